// Runs before the first paint. It is a file because the content security policy allows no inline script.
(function () {
  // A dark page never flashes white.
  var theme = null;
  try {
    theme = localStorage.getItem("ax.theme");
  } catch {
    // Storage is switched off: follow the system.
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;

  // The screen's files are loaded beside the page's own; preload.ts lists them.
  var list = document.querySelector("meta[name=ax-screens]");
  if (!list) return;
  var { files, screens } = JSON.parse(list.content);
  var screen = screens.find((s) => new RegExp(s[0]).test(location.pathname));
  for (var i of screen ? screen[1] : []) {
    var link = document.createElement("link");
    var style = files[i].endsWith(".css");
    link.rel = style ? "stylesheet" : "modulepreload";
    if (style) link.blocking = "render";
    link.href = "/" + files[i];
    document.head.append(link);
  }
})();
