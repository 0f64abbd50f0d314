import { useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Tick } from '../../ui/field.tsx';

export type Token = RouteOutput<'GET /customers/{customer}/tokens'>['tokens'][number];

/** Ends a token and, unless that is not wanted, what was made with it. */
export function EndToken({
  token,
  onEnd,
  onClose,
}: {
  token: Token;
  onEnd: (withMade: boolean) => Promise<void>;
  onClose: () => void;
}) {
  const [withMade, setWithMade] = useState(true);
  const [problem, setProblem] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  return (
    <ConfirmDialog
      title={`End the token “${token.name}”`}
      action="End it"
      problem={problem}
      isBusy={isBusy}
      choice={
        <Tick
          checked={withMade}
          onChange={setWithMade}
          hint="Other tokens, those that these made, and open invitations."
        >
          End what was made with it, too
        </Tick>
      }
      onClose={onClose}
      onConfirm={() => {
        setIsBusy(true);
        onEnd(withMade)
          .then(onClose, setProblem)
          .finally(() => setIsBusy(false));
      }}
    >
      Programs that use it are refused from then on.
    </ConfirmDialog>
  );
}
