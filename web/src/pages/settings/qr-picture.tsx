import { useMemo } from 'react';
import { qrModules } from './qr-code.ts';

/** Quiet zone in modules, required by scanners. */
const QUIET = 4;

/** Dark on light in both themes, as many scanners require. */
export function QrPicture({ text, label }: { text: string; label: string }) {
  const rows = useMemo(() => qrModules(text), [text]);
  if (rows === null) return null;
  const size = rows.length + 2 * QUIET;
  const path = rows
    .flatMap((row, y) =>
      [...row].flatMap((isDark, x) => (isDark ? [`M${x + QUIET} ${y + QUIET}h1v1h-1z`] : [])),
    )
    .join('');
  return (
    <svg
      className="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect className="qr-light" width={size} height={size} />
      <path className="qr-dark" d={path} />
    </svg>
  );
}
