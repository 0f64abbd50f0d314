import { useState } from 'react';
import type { KeyJson } from '../../../../src/control/api/contract/keys.ts';
import { formatSpan, formatTime } from '../../format.ts';
import { useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Fault } from '../../ui/field.tsx';
import { Choice } from '../../ui/tabs.tsx';
import { useNow } from '../../ui/time.tsx';
import type { NewKey } from './create-dialog.tsx';

const HOUR_MS = 3_600_000;
const overlaps = [
  { value: '0', label: 'None' },
  { value: String(HOUR_MS), label: '1 h' },
  { value: String(24 * HOUR_MS), label: '24 h' },
  { value: String(7 * 24 * HOUR_MS), label: '7 d' },
  { value: String(30 * 24 * HOUR_MS), label: '30 d' },
] as const;

/** Puts a new key in the place of one, with a time in which both work. */
export function RotateDialog({
  target,
  onClose,
  onCreated,
}: {
  target: KeyJson;
  onClose: () => void;
  onCreated: (created: NewKey) => void;
}) {
  const { customer } = useSession();
  const [overlap, setOverlap] = useState<string>(String(24 * HOUR_MS));
  const rotate = useChange('POST /customers/{customer}/keys/{key}/rotate');
  const now = useNow();
  const overlapMs = Number(overlap);

  const go = (): void =>
    rotate.mutate(
      { path: { customer: customer.id, key: target.id }, body: { overlapMs } },
      { onSuccess: onCreated },
    );

  return (
    <Dialog title={`Rotate “${target.name}”`} onClose={onClose}>
      <div className="stack">
        <p>A new key is made and shown once. How long should the old one go on?</p>
        <Choice label="Overlap" options={overlaps} value={overlap} onChange={setOverlap} />
        <ul className="consequences">
          <li>The new key works at once, with the same rules, limits, quota and usage.</li>
          {overlapMs === 0 ? (
            <li>
              <strong>{target.start}…</strong> stops within a second, and its open sockets and streams close.
            </li>
          ) : (
            <>
              <li>
                <strong>{target.start}…</strong> goes on for {formatSpan(overlapMs)}, until{' '}
                {formatTime(now + overlapMs)} UTC. Put the new key everywhere before.
              </li>
              <li>
                Then it stops, and sockets and streams that it opened close. You can cut this short at any
                time.
              </li>
            </>
          )}
        </ul>
        <Fault problem={rotate.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={rotate.isPending} onClick={go}>
            Rotate
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  );
}
