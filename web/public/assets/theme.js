// Applies the saved theme before the first paint.
try {
  const theme = localStorage.getItem('solway.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // No storage: use the system theme.
}
