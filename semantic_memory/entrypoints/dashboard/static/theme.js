// Runs before the first paint, so that a chosen theme doesn't flash.
const chosenTheme = localStorage.getItem("semantic-memory.theme");
if (chosenTheme) document.documentElement.dataset.theme = chosenTheme;
