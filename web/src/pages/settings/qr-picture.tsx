import qrcode from 'qrcode-generator';
import { useMemo } from 'react';

/** Quiet zone in modules, required by scanners. */
const QUIET = 4;

/** Dark on light in both themes, as many scanners require. */
export function QrPicture({ text, label }: { text: string; label: string }) {
  const code = useMemo(() => {
    const made = qrcode(0, 'L');
    made.addData(text);
    made.make();
    return made;
  }, [text]);
  const modules = [...Array(code.getModuleCount()).keys()];
  const size = modules.length + 2 * QUIET;
  const path = modules
    .flatMap((y) => modules.filter((x) => code.isDark(y, x)).map((x) => `M${x + QUIET} ${y + QUIET}h1v1h-1z`))
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
