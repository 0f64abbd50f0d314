import { useEffect, useState } from 'react';

/** Colours of the theme that holds now, as canvas takes them. */
export type Paint = Readonly<{
  /** Says of a custom property of tokens.css what it is. */
  of: (token: `--${string}`) => string;
  ink: string;
  faint: string;
  rule: string;
  sheet: string;
  /** A canvas font of the axes' size. */
  font: string;
}>;

function readPaint(): Paint {
  const style = getComputedStyle(document.documentElement);
  const of = (token: string): string => style.getPropertyValue(token).trim();
  return {
    of,
    ink: of('--ink-2'),
    faint: of('--ink-3'),
    rule: of('--rule'),
    sheet: of('--paper'),
    font: `11px ${of('--sans')}`,
  };
}

/** The colours, read again when the theme changes: by the page's switch or by the system. */
export function usePaint(): Paint {
  const [paint, setPaint] = useState(readPaint);
  useEffect(() => {
    const read = (): void => setPaint(readPaint());
    const system = matchMedia('(prefers-color-scheme: dark)');
    window.addEventListener('solway-theme', read);
    system.addEventListener('change', read);
    return () => {
      window.removeEventListener('solway-theme', read);
      system.removeEventListener('change', read);
    };
  }, []);
  return paint;
}
