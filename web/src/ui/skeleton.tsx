export const Skeleton = ({ lines = 3, height }: { lines?: number; height?: 's' | 'm' | 'l' }) => (
  <div className={`skeleton ${height === undefined ? '' : `skeleton-${height}`}`} role="status">
    <span className="visually-hidden">Loading</span>
    {height === undefined
      ? Array.from({ length: lines }, (_, line) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: identical placeholder lines
          <span key={line} className="skeleton-line" />
        ))
      : null}
  </div>
);
