import { useState } from 'react';
import type { KeyJson } from '../../../../src/control/api/contract/keys.ts';
import { formatTime } from '../../format.ts';
import { useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/field.tsx';
import { Choice } from '../../ui/tabs.tsx';
import { useNow } from '../../ui/time.tsx';
import type { NewKey } from './create-dialog.tsx';

const HOUR_MS = 3_600_000;
const overlaps = [
  { value: '0', label: 'None' },
  { value: String(HOUR_MS), label: '1 hour' },
  { value: String(24 * HOUR_MS), label: '24 hours' },
  { value: String(7 * 24 * HOUR_MS), label: '7 days' },
  { value: String(30 * 24 * HOUR_MS), label: '30 days' },
] as const;

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
    <Dialog title={`Rotate “${target.name}”?`} canClose={!rotate.isPending} onClose={onClose}>
      <div className="stack">
        <p>Creates a new key, shown once. Choose how long the current key stays valid.</p>
        <Choice label="Grace period" options={overlaps} value={overlap} onChange={setOverlap} />
        <ul className="consequences">
          <li>The new key takes effect immediately and shares rules, limits, quota, and usage.</li>
          {overlapMs === 0 ? (
            <li>
              <strong>{target.start}…</strong> stops working within a second, and its open connections are
              closed.
            </li>
          ) : (
            <>
              <li>
                <strong>{target.start}…</strong> stays valid for{' '}
                {overlaps.find(({ value }) => value === overlap)?.label}, until {formatTime(now + overlapMs)}{' '}
                UTC. Deploy the new key before then.
              </li>
              <li>Its open connections are closed when it expires. You can expire it earlier at any time.</li>
            </>
          )}
        </ul>
        <FormError problem={rotate.error} />
        <DialogActions>
          <Button disabled={rotate.isPending} onClick={onClose}>
            Cancel
          </Button>
          <Button kind="primary" busy={rotate.isPending} onClick={go}>
            Rotate
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  );
}
