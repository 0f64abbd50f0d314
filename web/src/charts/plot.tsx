import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type Paint, usePaint } from './paint.ts';
import type { PlotSpec } from './plot-spec.ts';
import { timeIncrements, timeTicks, wholeIncrements } from './ticks.ts';

export type PlotPoint = Readonly<{ at: number; value: number; left: number; width: number }>;

type PlotProps = Readonly<{
  spec: PlotSpec;
  height: number;
  onPoint: (point: PlotPoint | null) => void;
  onZoom?: ((from: number, to: number) => void) | undefined;
}>;

/** Drags shorter than this, in pixels, are clicks. */
const DRAG_MIN_PX = 6;
const WIDTH_MIN_PX = 120;
const AXIS_Y_PX = 52;
const AXIS_X_PX = 26;

type Latest = { current: PlotProps & { paint: Paint } };

const shared = (latest: Latest): Pick<uPlot.Options, 'legend' | 'cursor' | 'hooks' | 'ms' | 'padding'> => ({
  ms: 1,
  padding: [8, 18, 0, 0],
  legend: { show: false },
  cursor: {
    y: false,
    points: { show: false },
    drag: { x: true, y: false, setScale: false },
  },
  hooks: {
    setCursor: [(plot) => emitPoint(plot, latest)],
    setSelect: [(plot) => emitZoom(plot, latest)],
    draw: [(plot) => latest.current.spec.draw?.(plot, latest.current.paint)],
  },
});

function emitPoint(plot: uPlot, latest: Latest): void {
  const { left = -1, top = -1 } = plot.cursor;
  if (left < 0) {
    latest.current.onPoint(null);
    return;
  }
  const start = plot.bbox.left / devicePixelRatio;
  latest.current.onPoint({
    at: plot.posToVal(left, 'x'),
    value: plot.posToVal(top, 'y'),
    left: start + left,
    width: plot.width,
  });
}

function emitZoom(plot: uPlot, latest: Latest): void {
  const { left, width } = plot.select;
  if (width <= 0) return;
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  if (width < DRAG_MIN_PX) return;
  latest.current.onZoom?.(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
}

function axesOf(paint: Paint, latest: Latest): uPlot.Axis[] {
  const base = { stroke: paint.faint, font: paint.font, lineGap: 1.2 };
  return [
    {
      ...base,
      scale: 'x',
      size: AXIS_X_PX,
      gap: 6,
      space: 64,
      incrs: timeIncrements,
      values: (_, splits, __, ___, increment) => timeTicks(splits, increment),
      grid: { show: false },
      ticks: { stroke: paint.rule, width: 1, size: 4 },
      border: { show: true, stroke: paint.rule, width: 1 },
    },
    {
      ...base,
      scale: 'y',
      size: AXIS_Y_PX,
      gap: 6,
      space: 34,
      ...(latest.current.spec.isWhole === true ? { incrs: wholeIncrements } : {}),
      values: (_, splits) => splits.map((value) => latest.current.spec.tick(value)),
      ...(latest.current.spec.ySplits === undefined
        ? {}
        : { splits: () => [...(latest.current.spec.ySplits?.() ?? [])] }),
      grid: { stroke: paint.rule, width: 1 },
      ticks: { show: false },
    },
  ];
}

function createPlot(element: HTMLElement, width: number, latest: Latest): uPlot {
  const { spec, height, paint } = latest.current;
  const options: uPlot.Options = {
    ...shared(latest),
    ...{ width, height },
    series: [{}, ...spec.series(paint, uPlot)],
    scales: {
      x: { time: false, range: () => [...latest.current.spec.xRange] as [number, number] },
      y: {
        ...(spec.isLog === true ? { distr: 3 as uPlot.Scale.Distr } : {}),
        range: (_, min, max) => [...latest.current.spec.yRange(min, max)] as [number, number],
      },
    },
    axes: axesOf(paint, latest),
  };
  return new uPlot(options, spec.data, element);
}

/** Recreates the chart on theme or shape changes; otherwise updates data and size. */
export function Plot(props: PlotProps) {
  const paint = usePaint();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef({ ...props, paint });
  latest.current = { ...props, paint };
  const width = useWidth(box);
  const { spec, height } = props;

  // biome-ignore lint/correctness/useExhaustiveDependencies: data and width update the existing plot
  useEffect(() => {
    if (box.current === null || width === 0) return;
    plot.current = createPlot(box.current, width, latest);
    return () => {
      plot.current?.destroy();
      plot.current = null;
    };
  }, [spec.shape, paint, width === 0]);

  useEffect(() => plot.current?.setData(spec.data), [spec.data]);
  useEffect(() => {
    if (width > 0) plot.current?.setSize({ width, height });
  }, [width, height]);

  return <div ref={box} className="plot-canvas" aria-hidden="true" />;
}

function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => {
      const found = Math.floor(entry?.contentRect.width ?? 0);
      if (found > 0) setWidth(Math.max(WIDTH_MIN_PX, found));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
