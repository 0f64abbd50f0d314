import { formatCount, formatMs } from '../../format.ts';
import { useSession } from '../../shell/session.tsx';
import { Chip } from '../../ui/chip.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { landedAt, resultLabels, type Submission, transactionStatusOf } from './transaction-status.ts';

type Attempt = Submission['attempts'][number];
type RepeatAttempt = Submission['again'][number];

/** Attempts of any method report a success as `ok`. */
const outcomeOf = ({ outcome }: Attempt): string => (outcome === 'ok' ? 'accepted' : outcome);

/** Only operators see the names of nodes. */
const columns = <Row extends Attempt>(isOperator: boolean): Column<Row>[] => [
  ...(isOperator
    ? [{ id: 'node', title: 'Node', cell: ({ node }: Row) => node, sortBy: ({ node }: Row) => node }]
    : []),
  { id: 'at', title: 'Time (UTC)', cell: ({ at }) => <Time at={at} withMs />, sortBy: ({ at }) => at },
  { id: 'ms', title: 'Latency', align: 'end', cell: ({ ms }) => formatMs(ms), sortBy: ({ ms }) => ms },
  { id: 'outcome', title: 'Outcome', cell: (row) => outcomeOf(row), sortBy: (row) => outcomeOf(row) },
];

const repeatColumns = (isOperator: boolean): Column<RepeatAttempt>[] => [
  ...columns<RepeatAttempt>(isOperator),
  {
    id: 'times',
    title: 'Count',
    align: 'end',
    cell: ({ times }) => formatCount(times),
    sortBy: ({ times }) => times,
  },
];

export function SubmissionDrawer({ submission, onClose }: { submission: Submission; onClose: () => void }) {
  const { user } = useSession();
  const { signature, at, outcome, message, network, keyId, attempts, rebroadcasts, again, fate } = submission;
  const { keyName } = submission;
  const { slot, err } = landedAt(submission);
  const { label: word, tone } = transactionStatusOf(submission, Date.now());
  return (
    <Dialog title="Transaction" size="drawer" onClose={onClose}>
      <div className="stack">
        <Snippet text={signature} label="signature" />
        <dl className="facts">
          <dt>Status</dt>
          <dd>
            <Chip tone={tone}>{word}</Chip>
            {slot === null ? null : ` in slot ${slot}`}
          </dd>
          {err === null ? null : (
            <>
              <dt>Transaction error</dt>
              <dd className="mono">{err}</dd>
            </>
          )}
          <dt>Node response</dt>
          <dd>{outcome}</dd>
          {message === null ? null : (
            <>
              <dt>Message</dt>
              <dd className="wrap-anywhere">{message}</dd>
            </>
          )}
          {fate === null ? null : (
            <>
              <dt>Tracking ended</dt>
              <dd>{resultLabels[fate.name]}</dd>
              <dt>Rebroadcasts</dt>
              <dd>{formatCount(rebroadcasts)}</dd>
            </>
          )}
          <dt>Sent (UTC)</dt>
          <dd>
            <Time at={at} withMs />
          </dd>
          <dt>Network</dt>
          <dd>{network}</dd>
          <dt>API key</dt>
          <dd>{keyName ?? keyId}</dd>
        </dl>
        <Table
          caption="Attempts"
          showCaption
          columns={columns<Attempt>(user.isOperator)}
          rows={attempts}
          rowKey={({ node, at: attemptAt }) => `${node} ${attemptAt}`}
          empty={
            <p className="muted">
              Not submitted to any node. The same transaction may have been sent shortly before.
            </p>
          }
        />
        {again.length === 0 ? null : (
          <Table
            caption="Rebroadcasts (most recent per outcome)"
            showCaption
            columns={repeatColumns(user.isOperator)}
            rows={again}
            rowKey={({ node, outcome }) => `${node} ${outcome}`}
            empty={null}
          />
        )}
      </div>
    </Dialog>
  );
}
