import { useMemo } from 'react';
import { qrModules } from './qr-code.ts';

/** Empty modules around the code, without which readers do not find it. */
const QUIET = 4;

/** A text as a QR code: dark on light in both themes, since many readers want it so. */
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
