// Runs before the first paint, so that a dark page never flashes white. It is a file because the content security policy allows no inline script.
(function () {
  var theme = null;
  try {
    theme = localStorage.getItem("ax.theme");
  } catch {
    // Storage is switched off: follow the system.
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
