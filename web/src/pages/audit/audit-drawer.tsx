import { Dialog } from '../../ui/dialog.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Time } from '../../ui/time.tsx';
import { type AuditLine, actorOf } from './audit-line.ts';

/** One change with all that was noted of it. */
export function AuditDrawer({ line, onClose }: { line: AuditLine; onClose: () => void }) {
  const { name, kind } = actorOf(line.actor);
  return (
    <Dialog title={line.action} size="drawer" onClose={onClose}>
      <div className="stack">
        <dl className="facts">
          <dt>Time, UTC</dt>
          <dd>
            <Time at={line.at} withMs />
          </dd>
          <dt>Who</dt>
          <dd>
            {name}
            {kind === null ? '' : ` (${kind})`}
          </dd>
          {line.customerId == null ? null : (
            <>
              <dt>Customer</dt>
              <dd className="mono">{line.customerId}</dd>
            </>
          )}
          <dt>Key</dt>
          <dd className="mono">{line.keyId ?? 'none'}</dd>
          <dt>From</dt>
          <dd className="mono">{line.address ?? 'not over the network'}</dd>
          <dt>Browser or program</dt>
          <dd>{line.userAgent ?? 'not said'}</dd>
          <dt>Request</dt>
          <dd className="mono">{line.requestId ?? 'none'}</dd>
          <dt>Number</dt>
          <dd className="mono">{line.id}</dd>
        </dl>
        <Snippet text={JSON.stringify(line.detail, null, 2)} label="the detail" />
      </div>
    </Dialog>
  );
}
