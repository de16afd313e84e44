/* Puts the remembered colours on the page before it is first painted. A classic script: it must run before anything. */
try {
  const theme = localStorage.getItem("sayso.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* a forbidden storage: as the system says */ }
