// Before the first paint: the theme that was chosen, if one was.
try {
  const theme = localStorage.getItem('solway.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system's theme holds.
}
