import { useState } from 'react';
import type { KeyJson } from '../../../../src/control/api/contract/keys.ts';
import { useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { useChangeToasts } from '../../ui/toast.tsx';
import { CreateDialog, type NewKey } from './create-dialog.tsx';
import { RevokeDialog } from './revoke-dialog.tsx';
import { RotateDialog } from './rotate-dialog.tsx';
import { SecretDialog } from './secret-dialog.tsx';

type OpenDialog =
  | Readonly<{ dialog: 'create' }>
  | Readonly<{ dialog: 'secret'; created: NewKey }>
  | Readonly<{ dialog: 'rotate'; target: KeyJson }>
  | Readonly<{ dialog: 'revoke'; targets: readonly KeyJson[] }>;

export function useKeyCommands(onRevoked: () => void = () => {}) {
  const { customer } = useSession();
  const notify = useChangeToasts();
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const disable = useChange('POST /customers/{customer}/keys/{key}/disable');
  const enable = useChange('POST /customers/{customer}/keys/{key}/enable');
  const cut = useChange('POST /customers/{customer}/keys/{key}/cut');

  const at = (key: KeyJson) => ({ path: { customer: customer.id, key: key.id } });
  const close = (): void => setOpen(null);
  const show = (created: NewKey): void => setOpen({ dialog: 'secret', created });

  return {
    create: () => setOpen({ dialog: 'create' }),
    rotate: (target: KeyJson) => setOpen({ dialog: 'rotate', target }),
    revoke: (targets: readonly KeyJson[]) => setOpen({ dialog: 'revoke', targets }),
    disable: (key: KeyJson) => disable.mutate(at(key), notify(`“${key.name}” disabled.`)),
    enable: (key: KeyJson) => enable.mutate(at(key), notify(`“${key.name}” enabled.`)),
    cut: (key: KeyJson) => cut.mutate(at(key), notify('Previous key expired. Only the new key is valid.')),
    dialog: (
      <>
        {open?.dialog === 'create' ? <CreateDialog onClose={close} onCreated={show} /> : null}
        {open?.dialog === 'rotate' ? (
          <RotateDialog target={open.target} onClose={close} onCreated={show} />
        ) : null}
        {open?.dialog === 'secret' ? <SecretDialog created={open.created} onClose={close} /> : null}
        {open?.dialog === 'revoke' ? (
          <RevokeDialog
            targets={open.targets}
            onClose={() => {
              close();
              onRevoked();
            }}
          />
        ) : null}
      </>
    ),
  };
}

export type KeyCommands = Omit<ReturnType<typeof useKeyCommands>, 'dialog'>;
