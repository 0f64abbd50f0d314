import type { BillJson } from '../../../../src/control/api/contract/billing.ts';
import { addressOf } from '../../api.ts';
import { formatCount, formatDay, formatMoney, formatNumberOf } from '../../format.ts';
import { priceText } from '../../plan-limits.ts';
import { usePlanNames } from '../../plan-name.tsx';
import { useCall } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Chip } from '../../ui/chip.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tile } from '../../ui/tile.tsx';
import { monthTitle, totalText } from './money.ts';
import { MonthSelect } from './month-select.tsx';
import { StripeCustomer } from './stripe-panels.tsx';

export function CustomerBill({
  month,
  onMonth,
}: {
  month: string | undefined;
  onMonth: (month: string) => void;
}) {
  const { customer, user } = useSession();
  const planName = usePlanNames();
  const bill = useCall(
    'GET /customers/{customer}/billing',
    { path: { customer: customer.id }, query: month === undefined ? {} : { month } },
    { keepPrevious: true },
  );
  return (
    <Pending query={bill}>
      {(data) => (
        <div className="stack">
          <div className="row">
            <MonthSelect month={data.month} months={data.months} onMonth={onMonth} />
            {data.statement === null ? (
              <Chip>Open</Chip>
            ) : (
              <Chip tone="good">Closed on {formatDay(data.statement.closedAt)}</Chip>
            )}
          </div>
          <Tiles bill={data} />
          <Panel title={`Bill for ${monthTitle(data.month)}`} note={noteOf(data)}>
            <Table
              caption="Bill by plan"
              rows={rowsOf(data, planName)}
              rowKey={({ id }) => id}
              columns={columns}
              empty={<p className="muted">No usage and no monthly price in this month.</p>}
            />
          </Panel>
          <Downloads bill={data} />
          {user.isOperator ? (
            <StripeCustomer
              key={customer.id}
              customerId={customer.id}
              stripeId={data.stripeCustomerId}
              difference={data.stripeProblem}
            />
          ) : null}
        </div>
      )}
    </Pending>
  );
}

function Tiles({ bill }: { bill: BillJson }) {
  const sum = (field: 'requests' | 'credits') => bill.lines.reduce((total, line) => total + line[field], 0);
  return (
    <div className="tiles">
      <Tile
        label="Total"
        value={totalText(bill.totals)}
        note={bill.statement === null ? 'So far this month' : 'Final'}
      />
      <Tile label="Credits" value={formatCount(sum('credits'))} />
      <Tile label="Requests" value={formatCount(sum('requests'))} />
    </div>
  );
}

function noteOf({ statement, lateCredits }: BillJson): string {
  if (statement === null) return 'Amounts may change until the month is closed, one day after its end (UTC).';
  return lateCredits === 0
    ? 'This month is closed. Its amounts are final.'
    : `This month is closed. ${formatNumberOf(lateCredits, 'credit')} arrived later and are billed on the next statement.`;
}

type Row = Readonly<{ id: string; item: string; about: string; credits: number | null; amount: string }>;

function rowsOf(bill: BillJson, planName: (id: string) => string): Row[] {
  const { monthly, planId, lines, lateUsage } = bill;
  return [
    ...(monthly === null
      ? []
      : [
          {
            ...{ id: 'monthly', item: `Plan “${planName(planId)}”`, about: 'Monthly price', credits: null },
            amount: formatMoney(monthly.amount, monthly.currency),
          },
        ]),
    ...lines.map((line) => ({
      id: `plan ${line.planId}`,
      item: line.planId === '' ? 'Usage without an API key' : `Usage on plan “${planName(line.planId)}”`,
      about: line.price === null ? 'No price' : priceText(line.price),
      credits: line.credits,
      amount: line.price === null ? '–' : formatMoney(line.amount, line.price.currency),
    })),
    ...lateUsage.map((late) => ({
      id: `late ${late.planId}`,
      item: `Late usage of ${monthTitle(late.month)}`,
      about: `On plan “${planName(late.planId)}”; arrived after its statement`,
      credits: late.credits,
      amount: late.currency === '' ? '–' : formatMoney(late.amount, late.currency),
    })),
  ];
}

const columns: Column<Row>[] = [
  {
    id: 'item',
    title: 'Item',
    cell: ({ item, about }) => (
      <>
        <strong>{item}</strong>
        <span className="table-second">{about}</span>
      </>
    ),
  },
  {
    id: 'credits',
    title: 'Credits',
    align: 'end',
    cell: ({ credits }) => (credits === null ? '' : formatCount(credits)),
  },
  { id: 'amount', title: 'Amount', align: 'end', cell: ({ amount }) => amount },
];

function Downloads({ bill }: { bill: BillJson }) {
  const { customer } = useSession();
  const { month, statement } = bill;
  const own = { path: { customer: customer.id }, query: { month } };
  const path = { customer: customer.id, month };
  const files = [
    ...(statement === null
      ? []
      : ([
          [
            'Statement (JSON)',
            addressOf('GET /customers/{customer}/statements/{month}/statement.json', { path }),
            `statement-${month}.json`,
          ],
          [
            'Signature',
            addressOf('GET /customers/{customer}/statements/{month}/statement.json.sig', { path }),
            `statement-${month}.json.sig`,
          ],
        ] as const)),
    ['Usage (CSV)', addressOf('GET /customers/{customer}/billing.csv', own), `usage-${month}.csv`],
    ['Usage (JSON Lines)', addressOf('GET /customers/{customer}/billing.jsonl', own), `usage-${month}.jsonl`],
  ] as const;
  return (
    <Panel
      title="Downloads"
      note={
        statement === null
          ? 'Usage by key, product, and method.'
          : `Usage by key, product, and method, and the statement, signed with the key ${statement.keyId}.`
      }
    >
      <p className="row">
        {files.map(([label, href, name]) => (
          <a key={name} className="button" href={href} download={name}>
            <Icon name="download" />
            {label}
          </a>
        ))}
      </p>
    </Panel>
  );
}
