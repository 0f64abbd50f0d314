export const Swatch = ({ color }: { color: `--${string}` }) => (
  <svg className="swatch" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true" focusable="false">
    <rect width="10" height="10" rx="2" style={{ fill: `var(${color})` }} />
  </svg>
);
