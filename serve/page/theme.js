// Light or dark, before anything is drawn: as chosen here before, else as the system has it.
try {
  const chosen = localStorage.getItem("tableturn-theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that keeps nothing for us has the system's theme.
}
