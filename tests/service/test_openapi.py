"""The service conforms to its OpenAPI document for any request."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.service.conftest import Serve, Served
from tests.support.effort import rounds


def test_limits_of_numbers_are_in_the_schema(service: Served):
    written = json.dumps(service.app.openapi())
    of_pydantic = re.findall(r'"(?:gt|ge|lt|le|multiple_of)":.{0,40}', written)
    assert of_pydantic == []


def test_schemathesis_finds_no_failure(serve: Serve, tmp_path):
    service = serve(requests_per_minute=1_000_000)
    service.memory.add("Likes tea", user_id="maya")
    program = Path(sys.executable).with_name("schemathesis")
    done = subprocess.run(
        [
            program,
            f"--config-file={Path(__file__).with_name('schemathesis.toml')}",
            "run",
            f"{service.url}/openapi.json",
            f"--header=Authorization: Bearer {service.token()}",
            f"--max-examples={rounds(full=8, quick=3)}",
            "--generation-deterministic",
            "--suppress-health-check=all",
            "--workers=2",
            "--no-color",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr
