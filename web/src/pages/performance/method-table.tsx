import { useMemo } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatBytes, formatCount, formatMs, formatShare } from '../../format.ts';
import { productNames } from '../../product-names.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { specialNames } from '../usage/dimensions.ts';

type Row = RouteOutput<'GET /customers/{customer}/performance'>['methods'][number];

const latencies = ['p50', 'p95', 'p99', 'max'] as const;

const columnsOf = (onMethod: (name: string) => void): Column<Row>[] => [
  {
    id: 'method',
    title: 'Method',
    cell: ({ method }) => (
      <Button kind="quiet" size="s" className="link-button" onClick={() => onMethod(method)}>
        {specialNames[method] ?? method}
      </Button>
    ),
    sortBy: ({ method }) => method,
    csv: ({ method }) => method,
  },
  {
    id: 'product',
    title: 'Product',
    wideOnly: true,
    cell: ({ product }) => productNames[product],
    sortBy: ({ product }) => productNames[product],
    csv: ({ product }) => product,
  },
  {
    id: 'requests',
    title: 'Requests',
    align: 'end',
    cell: ({ requests }) => formatCount(requests),
    sortBy: ({ requests }) => requests,
    csv: ({ requests }) => requests,
  },
  ...latencies.map(
    (name): Column<Row> => ({
      id: name,
      title: name === 'max' ? 'Max' : name,
      align: 'end',
      wideOnly: name === 'p99' || name === 'max',
      cell: ({ latency }) => formatMs(latency[name]),
      sortBy: ({ latency }) => latency[name],
      csv: ({ latency }) => latency[name],
    }),
  ),
  {
    id: 'errors',
    title: 'Error rate',
    align: 'end',
    cell: ({ errors, requests }) => (errors === 0 ? '–' : formatShare(errors / Math.max(1, requests))),
    sortBy: ({ errors, requests }) => errors / Math.max(1, requests),
    csv: ({ errors }) => errors,
  },
  {
    id: 'bytes',
    title: 'Average response size',
    align: 'end',
    wideOnly: true,
    cell: ({ averageBytes }) => formatBytes(averageBytes),
    sortBy: ({ averageBytes }) => averageBytes,
    csv: ({ averageBytes }) => averageBytes,
  },
];

export function MethodTable({
  methods,
  onMethod,
}: {
  methods: readonly Row[];
  onMethod: (name: string) => void;
}) {
  const columns = useMemo(() => columnsOf(onMethod), [onMethod]);
  return (
    <Table
      caption="Latency by method"
      columns={columns}
      rows={methods}
      rowKey={({ product, method }) => `${product} ${method}`}
      initialSort={{ column: 'requests', down: true }}
      csvName="latency-by-method"
    />
  );
}
