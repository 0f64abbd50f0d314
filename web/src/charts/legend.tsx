import { useMemo, useState } from 'react';
import { Button } from '../ui/button.tsx';
import type { Series } from './series.ts';
import { Swatch } from './swatch.tsx';

export type SeriesVisibility = Readonly<{
  visible: readonly Series[];
  isHidden: (id: string) => boolean;
  toggle: (id: string) => void;
  showAlone: (id: string) => void;
  reset: () => void;
}>;

export function useSeriesVisibility(
  series: readonly Series[],
  initially: readonly string[] = [],
): SeriesVisibility {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(() => new Set(initially));
  return useMemo(
    () => ({
      visible: series.filter(({ id }) => !hidden.has(id)),
      isHidden: (id) => hidden.has(id),
      toggle: (id) =>
        setHidden(new Set(hidden.has(id) ? [...hidden].filter((one) => one !== id) : [...hidden, id])),
      showAlone: (id) => setHidden(new Set(series.map((one) => one.id).filter((one) => one !== id))),
      reset: () => setHidden(new Set()),
    }),
    [series, hidden],
  );
}

export function Legend({
  series,
  hidden,
  noteOf,
}: {
  series: readonly Series[];
  hidden: SeriesVisibility;
  noteOf?: (series: Series) => string;
}) {
  const isPart = series.some(({ id }) => hidden.isHidden(id));
  return (
    <>
      <ul className="legend" aria-label="Series">
        {series.map((one) => (
          <li key={one.id}>
            <button
              type="button"
              className="legend-entry"
              aria-pressed={!hidden.isHidden(one.id)}
              title="Click to hide; double-click or Shift-click to isolate"
              onClick={({ shiftKey }) => (shiftKey ? hidden.showAlone(one.id) : hidden.toggle(one.id))}
              onDoubleClick={() => hidden.showAlone(one.id)}
            >
              <Swatch color={one.color} />
              <span className="legend-label">{one.label}</span>
              {noteOf === undefined ? null : <span className="legend-note">{noteOf(one)}</span>}
            </button>
          </li>
        ))}
      </ul>
      {isPart ? (
        <Button kind="quiet" size="s" onClick={hidden.reset}>
          Show all
        </Button>
      ) : null}
    </>
  );
}
