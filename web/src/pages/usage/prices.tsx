import { useMemo, useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatCount } from '../../format.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { specialNames } from './dimensions.ts';

type Price = RouteOutput<'GET /customers/{customer}/quota'>['prices'][number];

const nameOf = ({ method }: Price): string => specialNames[method] ?? method;

const apiOf = (method: string): string =>
  method.includes('/') ? 'REST' : /^[A-Z]/.test(method) ? 'gRPC' : 'JSON-RPC';

const columns: Column<Price>[] = [
  {
    id: 'method',
    title: 'Method',
    // A plan's prices use the metered name.
    cell: (price) => <code title={price.method}>{nameOf(price)}</code>,
    sortBy: nameOf,
    csv: ({ method }) => method,
  },
  {
    id: 'api',
    title: 'API',
    wideOnly: true,
    cell: ({ method }) => apiOf(method),
    sortBy: ({ method }) => apiOf(method),
    csv: ({ method }) => apiOf(method),
  },
  {
    id: 'credits',
    title: 'Credits',
    align: 'end',
    cell: ({ credits }) => formatCount(credits),
    sortBy: ({ credits }) => credits,
    csv: ({ credits }) => credits,
  },
];

export function Prices({ prices }: { prices: readonly Price[] }) {
  const [text, setText] = useState('');
  const rows = useMemo(
    () =>
      prices.filter((price) =>
        `${price.method} ${nameOf(price)}`.toLowerCase().includes(text.trim().toLowerCase()),
      ),
    [prices, text],
  );
  return (
    <div className="prices">
      <input
        className="input"
        type="search"
        aria-label="Search methods"
        placeholder="Search methods"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="tall">
        <Table
          caption="Credits per request"
          columns={columns}
          rows={rows}
          rowKey={({ method }) => method}
          initialSort={{ column: 'method', down: false }}
          csvName="prices"
          empty={<p className="muted">No matching methods.</p>}
        />
      </div>
    </div>
  );
}
