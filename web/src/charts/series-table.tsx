import { useMemo } from 'react';
import { type Column, Table } from '../ui/table.tsx';
import { formatStep, type Series, startsOf, type TimeAxis } from './series.ts';

type Row = Readonly<{ at: number; step: number }>;

export function SeriesTable({
  title,
  axis,
  series,
  format,
}: {
  title: string;
  axis: TimeAxis;
  series: readonly Series[];
  format: (value: number) => string;
}) {
  const rows = useMemo<Row[]>(() => startsOf(axis).map((at, step) => ({ at, step })), [axis]);
  const columns = useMemo<Column<Row>[]>(
    () => [
      {
        id: 'at',
        title: 'UTC',
        cell: ({ at }) => <span className="time">{formatStep(at, axis.stepMs)}</span>,
        sortBy: ({ at }) => at,
      },
      ...series.map(({ id, label, values }): Column<Row> => {
        const of = ({ step }: Row): number | null => values[step] ?? null;
        return {
          id,
          title: label,
          align: 'end',
          sortBy: of,
          cell: (row) => {
            const value = of(row);
            return value === null ? '–' : format(value);
          },
        };
      }),
    ],
    [axis, series, format],
  );
  return (
    <div className="chart-table">
      <Table caption={title} columns={columns} rows={rows} rowKey={({ at }) => String(at)} />
    </div>
  );
}
