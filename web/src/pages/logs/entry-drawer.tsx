import { Link } from '@tanstack/react-router';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatBytes, formatMs } from '../../format.ts';
import { outcomes } from '../../outcomes.ts';
import { productNames } from '../../product-names.ts';
import { useCall } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { curlRpc } from '../../snippets.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';
import { Pending } from '../../ui/pending.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Time } from '../../ui/time.tsx';
import { Waterfall } from './waterfall.tsx';

type Entry = RouteOutput<'GET /customers/{customer}/logs/{entry}'>;

export function EntryDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const { customer } = useSession();
  const entry = useCall('GET /customers/{customer}/logs/{entry}', {
    path: { customer: customer.id, entry: id },
  });
  return (
    <Dialog title={entry.data?.method ?? 'Request'} size="drawer" onClose={onClose}>
      <Pending query={entry}>{(data) => <EntryFacts entry={data} />}</Pending>
    </Dialog>
  );
}

function EntryFacts({ entry }: { entry: Entry }) {
  const { service, user } = useSession();
  const curl = curlOf(entry, service.urls);
  return (
    <div className="stack">
      <div className="row">
        <OutcomeChip status={entry.status} />
        <span className="muted">{formatMs(entry.ms)}</span>
        {entry.failure === null ? null : <code>{entry.failure}</code>}
      </div>
      <p className="muted">{outcomes[entry.status].about}</p>
      <Reason entry={entry} />
      <section className="stack-tight">
        <h3>Timeline</h3>
        <Waterfall steps={entry.steps} totalMs={entry.ms} />
      </section>
      <Facts entry={entry} isOperator={user.isOperator} />
      <Body title="Parameters" text={entry.params} />
      <Body title="Result" text={entry.result} />
      {entry.params === null && entry.result === null ? <NoBodies entry={entry} /> : null}
      <div className="row">
        {curl === null ? null : <CopyButton text={curl} label="Copy as curl" size="s" />}
        <CopyButton text={window.location.href} label="Copy link" size="s" />
        <CopyButton text={JSON.stringify(entry, null, 2)} label="Copy as JSON" size="s" />
      </div>
    </div>
  );
}

const owners: Readonly<Record<NonNullable<Entry['owner']>, string>> = {
  client: 'the client',
  node: 'the node, or the parameters sent to it',
  upstream: 'the upstream nodes',
  capacity: 'the capacity of this service',
  gateway: 'the gateway',
};

function Reason({ entry: { owner, message } }: { entry: Entry }) {
  if (owner === null) return null;
  return (
    <section className="stack-tight">
      <h3>Reason</h3>
      {message === null ? null : <p className="wrap-anywhere">{message}</p>}
      <p className="muted">Caused by {owners[owner]}.</p>
    </section>
  );
}

const Facts = ({ entry, isOperator }: { entry: Entry; isOperator: boolean }) => (
  <dl className="facts">
    <dt>Time (UTC)</dt>
    <dd>
      <Time at={entry.at} withMs />
    </dd>
    <dt>API key</dt>
    <dd>
      {entry.keyId === null ? (
        '–'
      ) : (
        <Link to="/keys/$key" params={{ key: entry.keyId }}>
          {entry.keyName ?? entry.keyId}
        </Link>
      )}
    </dd>
    <dt>Product</dt>
    <dd>
      {productNames[entry.product]}
      {entry.network === null ? '' : `, ${entry.network}`}
    </dd>
    <dt>HTTP status</dt>
    <dd>{entry.http === 0 ? '–' : entry.http}</dd>
    <dt>JSON-RPC code</dt>
    <dd>{entry.rpcCode === 0 ? '–' : entry.rpcCode}</dd>
    <dt>Size</dt>
    <dd>
      {formatBytes(entry.bytesIn)} in, {formatBytes(entry.bytesOut)} out
    </dd>
    {isOperator ? (
      <>
        <dt>Node</dt>
        <dd>{entry.node ?? '–'}</dd>
      </>
    ) : null}
    {entry.signature === null ? null : (
      <>
        <dt>Signature</dt>
        <dd className="mono">{entry.signature}</dd>
      </>
    )}
    <dt>IP address</dt>
    <dd className="mono">
      {entry.address}
      {entry.origin === null ? '' : ` · ${entry.origin}`}
    </dd>
    <dt>Gateway</dt>
    <dd className="mono">{entry.gateway}</dd>
    <dt>Request ID</dt>
    <dd className="mono">{entry.id}</dd>
  </dl>
);

function Body({ title, text }: { title: string; text: string | null }) {
  if (text === null) return null;
  const parsed = parsedOf(text);
  return (
    <section className="stack-tight body-text">
      <h3>{title}</h3>
      <Snippet
        text={parsed === undefined ? `${text} …` : JSON.stringify(parsed, null, 2)}
        label={title.toLowerCase()}
      />
    </section>
  );
}

const NoBodies = ({ entry: { keyId } }: { entry: Entry }) => (
  <p className="muted">
    Parameters and results are not logged for{' '}
    {keyId === null ? 'requests without a valid API key.' : 'this key.'}{' '}
    {keyId === null ? null : (
      <Link to="/keys/$key" params={{ key: keyId }}>
        Change key settings
      </Link>
    )}
  </p>
);

function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Null for calls that curl cannot reproduce or whose parameters were truncated. */
function curlOf(entry: Entry, urls: Parameters<typeof curlRpc>[0]): string | null {
  if (entry.product !== 'rpc' || entry.method.includes('/')) return null;
  const params = entry.params === null ? undefined : parsedOf(entry.params);
  if (entry.params !== null && params === undefined) return null;
  return curlRpc(urls, '<API_KEY>', JSON.stringify({ jsonrpc: '2.0', id: 1, method: entry.method, params }));
}
