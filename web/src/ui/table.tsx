import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useId, useMemo, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { downloadText, toCsv } from './csv.ts';
import { Icon } from './icon.tsx';

export type Column<Row> = Readonly<{
  id: string;
  title: string;
  cell: (row: Row) => ReactNode;
  /** Sort key; null sorts last. Omit to disable sorting. */
  sortBy?: (row: Row) => number | string | null;
  /** CSV cell; omit to exclude the column. */
  csv?: (row: Row) => number | string | null;
  align?: 'end';
  wideOnly?: boolean;
  hideTitle?: boolean;
}>;

/** Longer tables render only the rows near the viewport. */
const VIRTUAL_FROM_ROWS = 200;
const ROW_HEIGHT_PX = 41;

export type Sort = Readonly<{ column: string; down: boolean }>;

export type TableProps<Row> = Readonly<{
  caption: string;
  showCaption?: boolean;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  initialSort?: Sort;
  /** The order in which the service sorts, for a page of a longer list. Only `columns` can then be sorted by. */
  order?: Readonly<{ sort: Sort; columns: readonly string[]; onSort: (sort: Sort) => void }>;
  empty?: ReactNode;
  /** Whether the cells of a row are listed one below the other on a narrow screen. */
  isStacked?: boolean;
  csvName?: string;
  selection?: Readonly<{
    chosen: ReadonlySet<string>;
    onChange: (chosen: ReadonlySet<string>) => void;
    rowName: (row: Row) => string;
    canChoose?: (row: Row) => boolean;
  }>;
}>;

export function Table<Row>(props: TableProps<Row>) {
  const {
    caption,
    showCaption = false,
    columns,
    rows,
    rowKey,
    initialSort,
    order,
    empty,
    isStacked = false,
    csvName,
    selection,
  } = props;
  const captionId = useId();
  const [ownSort, setSort] = useState<Sort | null>(initialSort ?? null);
  const sort = order?.sort ?? ownSort;
  const isOrdered = order !== undefined;
  const sorted = useMemo(
    () => (isOrdered ? rows : sortRows(rows, columns, ownSort)),
    [isOrdered, rows, columns, ownSort],
  );
  const scroll = useRef<HTMLElement>(null);
  const { isVirtual, visible, before, after, measure } = useVisibleRows(sorted, scroll);
  const frame = isVirtual ? 'table-scroll table-virtual' : 'table-scroll';

  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    <div className="table-frame">
      {csvName === undefined && !showCaption ? null : (
        <div className="table-head">
          <span aria-hidden="true" className="table-caption">
            {showCaption ? caption : ''}
          </span>
          {csvName === undefined ? null : (
            <Button kind="quiet" size="s" icon="download" onClick={() => save(csvName, columns, sorted)}>
              CSV<span className="visually-hidden">: {caption}</span>
            </Button>
          )}
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be keyboard accessible */}
      <section ref={scroll} className={frame} aria-labelledby={captionId} tabIndex={0}>
        <table className={isStacked ? 'table table-stacked' : 'table'} aria-rowcount={sorted.length + 1}>
          <caption id={captionId} className="visually-hidden">
            {caption}
          </caption>
          <thead>
            <tr>
              {selection === undefined ? null : (
                <SelectAll rows={rows} rowKey={rowKey} selection={selection} />
              )}
              {columns.map((column) => (
                <Heading
                  key={column.id}
                  column={column}
                  isSortable={order?.columns.includes(column.id) ?? column.sortBy !== undefined}
                  sort={sort}
                  onSort={order?.onSort ?? setSort}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            <Spacer height={before} />
            {visible.map(({ row, index }) => (
              <tr key={rowKey(row)} ref={measure} data-index={index} aria-rowindex={index + 2}>
                {selection === undefined ? null : (
                  <SelectRow row={row} rowKey={rowKey} selection={selection} />
                )}
                {columns.map((column) => (
                  <td
                    key={column.id}
                    className={classOf(column)}
                    {...(isStacked && { 'data-title': column.title })}
                  >
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
            <Spacer height={after} />
          </tbody>
        </table>
      </section>
    </div>
  );
}

/** Visible rows, and the heights of the rows before and after them. */
function useVisibleRows<Row>(rows: readonly Row[], scroll: RefObject<HTMLElement | null>) {
  const isVirtual = rows.length > VIRTUAL_FROM_ROWS;
  const virtualizer = useVirtualizer({
    count: rows.length,
    enabled: isVirtual,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: 20,
  });
  const items = isVirtual ? virtualizer.getVirtualItems() : [];
  return {
    isVirtual,
    visible: isVirtual
      ? items.map(({ index }) => ({ row: rows[index] as Row, index }))
      : rows.map((row, index) => ({ row, index })),
    before: items[0]?.start ?? 0,
    after: isVirtual ? virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0) : 0,
    measure: isVirtual ? virtualizer.measureElement : undefined,
  };
}

const Spacer = ({ height }: { height: number }) => (height > 0 ? <tr style={{ height }} /> : null);

const classOf = (column: Pick<Column<never>, 'align' | 'wideOnly' | 'hideTitle'>): string =>
  [
    column.align === 'end' ? 'end' : '',
    column.wideOnly === true ? 'wide-only' : '',
    column.hideTitle === true ? 'actions' : '',
  ].join(' ');

function Heading<Row>({
  column,
  isSortable,
  sort,
  onSort,
}: {
  column: Column<Row>;
  isSortable: boolean;
  sort: Sort | null;
  onSort: (sort: Sort) => void;
}) {
  const isSorted = sort?.column === column.id;
  const title = column.hideTitle ? <span className="visually-hidden">{column.title}</span> : column.title;
  if (!isSortable)
    return (
      <th scope="col" className={classOf(column)}>
        {title}
      </th>
    );
  return (
    <th
      scope="col"
      className={classOf(column)}
      aria-sort={isSorted ? (sort.down ? 'descending' : 'ascending') : 'none'}
    >
      <button
        type="button"
        className="sort"
        onClick={() => onSort({ column: column.id, down: isSorted ? !sort.down : column.align === 'end' })}
      >
        {title}
        <span className={`sort-mark ${isSorted ? '' : 'sort-mark-off'}`}>
          <Icon name={isSorted && !sort.down ? 'up' : 'down'} size={12} />
        </span>
      </button>
    </th>
  );
}

/** Sort order as the control API names it: with `-` for descending order. */
export type SortOrder<Name extends string> = `${'' | '-'}${Name}`;

export const orderText = ({ column, down }: Sort): string => `${down ? '-' : ''}${column}`;

type SelectionProps<Row> = Readonly<{
  rowKey: (row: Row) => string;
  selection: NonNullable<TableProps<Row>['selection']>;
}>;

function SelectAll<Row>({ rows, rowKey, selection }: SelectionProps<Row> & { rows: readonly Row[] }) {
  const able = rows.filter((row) => selection.canChoose?.(row) ?? true).map(rowKey);
  const all = able.length > 0 && able.every((id) => selection.chosen.has(id));
  return (
    <th scope="col" className="choose">
      <input
        type="checkbox"
        aria-label="Select all"
        checked={all}
        disabled={able.length === 0}
        onChange={() => selection.onChange(new Set(all ? [] : able))}
      />
    </th>
  );
}

function SelectRow<Row>({ row, rowKey, selection }: SelectionProps<Row> & { row: Row }) {
  const id = rowKey(row);
  return (
    <td className="choose">
      <input
        type="checkbox"
        aria-label={`Select ${selection.rowName(row)}`}
        checked={selection.chosen.has(id)}
        disabled={!(selection.canChoose?.(row) ?? true)}
        onChange={(event) => {
          const chosen = new Set(selection.chosen);
          if (event.target.checked) chosen.add(id);
          else chosen.delete(id);
          selection.onChange(chosen);
        }}
      />
    </td>
  );
}

function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: Sort | null,
): readonly Row[] {
  const by = columns.find(({ id }) => id === sort?.column)?.sortBy;
  if (by === undefined || sort === null) return rows;
  const sign = sort.down ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [one, other] = [by(a), by(b)];
    if (one === null || other === null) return (one === null ? 1 : 0) - (other === null ? 1 : 0);
    if (typeof one === 'string' || typeof other === 'string')
      return sign * String(one).localeCompare(String(other), 'en', { numeric: true });
    return sign * (one - other);
  });
}

function save<Row>(name: string, columns: readonly Column<Row>[], rows: readonly Row[]): void {
  const csvColumns = columns.filter(({ csv }) => csv !== undefined);
  const head = csvColumns.map(({ title }) => title);
  downloadText(
    `${name}.csv`,
    'text/csv',
    toCsv(
      head,
      rows.map((row) => csvColumns.map(({ csv }) => csv?.(row) ?? null)),
    ),
  );
}
