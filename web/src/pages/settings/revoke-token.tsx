import { useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Checkbox } from '../../ui/field.tsx';

export type Token = RouteOutput<'GET /customers/{customer}/tokens'>['tokens'][number];

export function RevokeToken({
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
      title={`Revoke token “${token.name}”?`}
      action="Revoke"
      problem={problem}
      isBusy={isBusy}
      choice={
        <Checkbox
          checked={withMade}
          onChange={setWithMade}
          hint="Including those created by its tokens. API keys are not affected."
        >
          Also revoke tokens and invitations created with it
        </Checkbox>
      }
      onClose={onClose}
      onConfirm={() => {
        setIsBusy(true);
        onEnd(withMade)
          .then(onClose, setProblem)
          .finally(() => setIsBusy(false));
      }}
    >
      Applications that use this token lose access immediately.
    </ConfirmDialog>
  );
}
