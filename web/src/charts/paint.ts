import { useEffect, useState } from 'react';

export type Paint = Readonly<{
  of: (token: `--${string}`) => string;
  ink: string;
  faint: string;
  rule: string;
  sheet: string;
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
