import { Link, useParams } from '@tanstack/react-router';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { ApiProblem } from '../../api.ts';
import { PlanName } from '../../plan-name.tsx';
import { productNames } from '../../product-names.ts';
import { useCall } from '../../queries.ts';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { Chip } from '../../ui/chip.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Facts } from '../../ui/facts.tsx';
import { FormError } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Ago, Time } from '../../ui/time.tsx';
import { KeyButtons, KeyChips, Overlap } from '../keys/key-cells.tsx';
import { type KeyCommands, useKeyCommands } from '../keys/key-dialogs.tsx';
import { productUses, ruleFacts } from '../keys/key-labels.ts';
import { KeyAudit } from './key-audit.tsx';
import { KeyConnections } from './key-connections.tsx';
import { KeySettings } from './key-settings.tsx';
import { KeyTraffic } from './key-traffic.tsx';
import '../keys/keys.css';

type KeyDetail = RouteOutput<'GET /customers/{customer}/keys/{key}'>;

const REFETCH_MS = 5_000;

export function KeyPage() {
  const { key: id = '' } = useParams({ strict: false });
  const { customer, can } = useSession();
  const one = useCall(
    'GET /customers/{customer}/keys/{key}',
    { path: { customer: customer.id, key: id } },
    { refetchMs: REFETCH_MS },
  );
  const commands = useKeyCommands();
  const { data } = one;

  return (
    <Page
      title={data?.key.name ?? 'API key'}
      question={<Link to="/keys">All API keys</Link>}
      updatedAt={one.dataUpdatedAt}
      ranged
      actions={
        data !== undefined && can('developer') ? <KeyButtons item={data.key} commands={commands} /> : null
      }
    >
      {isMissing(one.error) ? <NoSuchKey id={id} /> : <FormError problem={one.error} />}
      {data === undefined ? (
        one.error === null && <Skeleton height="l" />
      ) : (
        <>
          <KeyStatusPanel one={data} commands={commands} />
          <Tabs label="API key details" tabs={tabsOf(data, can('developer'), can('admin'))} />
        </>
      )}
      {commands.dialog}
    </Page>
  );
}

const isMissing = (problem: unknown): boolean => problem instanceof ApiProblem && problem.status === 404;

function NoSuchKey({ id }: { id: string }) {
  const { customer } = useSession();
  return (
    <EmptyState title="API key not found" action={<Link to="/keys">All API keys of {customer.name}</Link>}>
      {customer.name} has no API key with ID <code>{id}</code>. Check the URL, or switch to another customer.
    </EmptyState>
  );
}

function tabsOf({ key }: KeyDetail, canChange: boolean, canAudit: boolean) {
  return [
    { id: 'traffic', label: 'Traffic', panel: () => <KeyTraffic keyId={key.id} /> },
    { id: 'connections', label: 'Connections', panel: () => <KeyConnections keyId={key.id} /> },
    {
      id: 'settings',
      label: 'Settings',
      panel: () =>
        canChange && key.state !== 'revoked' ? (
          <KeySettings key={key.id} target={key} />
        ) : (
          <Facts facts={ruleFacts(key)} />
        ),
    },
    ...(canAudit ? [{ id: 'audit', label: 'Audit log', panel: () => <KeyAudit keyId={key.id} /> }] : []),
  ];
}

function KeyStatusPanel({ one: { key, family }, commands }: { one: KeyDetail; commands: KeyCommands }) {
  const others = family.filter(({ id }) => id !== key.id);
  return (
    <div className="columns columns-2">
      <Facts
        facts={[
          ['Key', <code key="start">{key.start}…</code>],
          [
            'Key ID',
            <span key="id" className="row row-close">
              <code>{key.id}</code>
              <CopyButton compact size="s" text={key.id} label="Copy API key ID" />
            </span>,
          ],
          [
            'Status',
            <span key="state">
              <KeyChips item={key} />
              <Overlap item={key} onCut={() => commands.cut(key)} />
            </span>,
          ],
          ['Product', `${productNames[key.product]}: ${productUses[key.product]}`],
          ['Plan', <PlanName key="plan" id={key.planId} />],
        ]}
      />
      <div className="stack">
        <Facts
          facts={[
            [
              'Last used',
              key.lastUsedAt === null ? (
                'Never'
              ) : (
                <span key="used">
                  <Ago at={key.lastUsedAt} /> <span className="mono muted">{key.lastUsedFrom}</span>
                </span>
              ),
            ],
            [
              'Created',
              <span key="made">
                <Time at={key.createdAt} /> UTC
              </span>,
            ],
            [
              'Expires',
              key.expiresAt === null ? (
                'Never'
              ) : (
                <span key="expires">
                  <Time at={key.expiresAt} /> UTC
                </span>
              ),
            ],
            ...(key.leakedAt === null
              ? []
              : [
                  [
                    'Leaked',
                    <span key="leaked">
                      <Chip tone="bad">reported</Chip> <Time at={key.leakedAt} /> UTC. Rotate this key.
                    </span>,
                  ] as const,
                ]),
          ]}
        />
        {others.length === 0 ? null : (
          <Panel
            title="Related API keys"
            note="Rotated versions of this key share limits, quota, rules, and usage."
          >
            <ul>
              {others.map((other) => (
                <li key={other.id} className="row">
                  <Link to="/keys/$key" params={{ key: other.id }} className="mono">
                    {other.start}…
                  </Link>
                  <KeyChips item={other} />
                </li>
              ))}
            </ul>
          </Panel>
        )}
      </div>
    </div>
  );
}
