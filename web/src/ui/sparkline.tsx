const WIDTH = 120;
const HEIGHT = 28;

function linesThrough(values: readonly (number | null)[]): string {
  const measured = values.filter((value) => value !== null);
  const top = Math.max(...measured, 0);
  const step = values.length > 1 ? WIDTH / (values.length - 1) : 0;
  let pen = 'M';
  let path = '';
  values.forEach((value, index) => {
    if (value === null) {
      pen = 'M';
      return;
    }
    const y = HEIGHT - 2 - (top === 0 ? 0 : (value / top) * (HEIGHT - 4));
    path += `${pen}${(index * step).toFixed(1)} ${y.toFixed(1)}`;
    pen = 'L';
  });
  return path;
}

/** Decorative: screen readers skip it. */
export const Sparkline = ({ values, tone }: { values: readonly (number | null)[]; tone?: 'bad' }) => (
  <svg
    className={`sparkline ${tone === 'bad' ? 'sparkline-bad' : ''}`}
    viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    <path d={linesThrough(values)} vectorEffect="non-scaling-stroke" />
  </svg>
);
