// Before anything is drawn, so that nothing flashes: the colours a person has chosen.
(function () {
  var chosen = null;
  try { chosen = localStorage.getItem("evenhand.theme"); } catch (e) { /* not allowed to keep anything */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
