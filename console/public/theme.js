// Runs before the first paint, so that a dark page never flashes white. A file of its own: the policy allows no inline script.
(() => {
  var stored = {};
  try {
    stored = JSON.parse(localStorage.getItem("handback.preferences") || "{}") || {};
  } catch (_) {
    // Storage is off, or somebody else's: follow the system.
  }
  var dark = stored.theme === "dark" || (stored.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  var chinese = stored.language ? stored.language === "zh-CN" : /^zh\b/i.test(navigator.languages?.[0] || navigator.language || "");
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.documentElement.lang = chinese ? "zh-CN" : "en";
})();
