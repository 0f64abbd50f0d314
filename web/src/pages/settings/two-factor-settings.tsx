import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useAttempt } from '../../attempt.ts';
import { disableTwoFactor, enableTwoFactor, submitTotp } from '../../auth.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Checkbox, FormError } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { useToast } from '../../ui/toast.tsx';
import { TextInput } from '../sign-in/text-input.tsx';
import { QrPicture } from './qr-picture.tsx';

type Setup = Readonly<{ totpURI: string; backupCodes: readonly string[] }>;

export function TwoFactorSettings() {
  const { user } = useSession();
  const [open, setOpen] = useState<'enable' | 'disable' | null>(null);
  const close = (): void => setOpen(null);
  return (
    <Panel
      title="Two-factor authentication"
      aside={user.twoFactor ? <Chip tone="good">On</Chip> : <Chip tone="warn">Off</Chip>}
    >
      <p>Requires a six-digit code from an authenticator app when you sign in.</p>
      <div>
        {user.twoFactor ? (
          <Button onClick={() => setOpen('disable')}>Disable</Button>
        ) : (
          <Button onClick={() => setOpen('enable')}>Set up</Button>
        )}
      </div>
      {open === 'enable' ? <EnableDialog onClose={close} /> : null}
      {open === 'disable' ? <DisableDialog onClose={close} /> : null}
    </Panel>
  );
}

function EnableDialog({ onClose }: { onClose: () => void }) {
  const [setup, setSetup] = useState<Setup | null>(null);
  const [password, setPassword] = useState('');
  const { problem, isBusy, run } = useAttempt();
  if (setup !== null) return <ConfirmSetup setup={setup} onClose={onClose} />;

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    run(async () => setSetup(await enableTwoFactor(password)));
  };
  return (
    <Dialog title="Set up two-factor authentication" size="s" canClose={!isBusy} onClose={onClose}>
      <form onSubmit={submit} className="stack">
        <TextInput
          label="Current password"
          name="currentPassword"
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
          problem={problem}
        />
        <FormError problem={problem} />
        <DialogActions>
          <Button disabled={isBusy} onClick={onClose}>
            Cancel
          </Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            Next
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function ConfirmSetup({ setup, onClose }: { setup: Setup; onClose: () => void }) {
  const client = useQueryClient();
  const toast = useToast();
  const [code, setCode] = useState('');
  const [isSaved, setIsSaved] = useState(false);
  const { problem, isBusy, run } = useAttempt();
  const codes = setup.backupCodes.join('\n');
  const setupKey = new URL(setup.totpURI).searchParams.get('secret') ?? '';

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    run(async () => {
      await submitTotp(code.replaceAll(/\s/g, ''), false);
      await client.invalidateQueries();
      toast('Two-factor authentication enabled.');
      onClose();
    });
  };
  return (
    <Dialog title="Set up two-factor authentication" size="l" canClose={!isBusy} onClose={onClose}>
      <form onSubmit={submit} className="columns columns-2">
        <div className="stack">
          <p>Scan this QR code with an authenticator app, or enter this setup key.</p>
          <QrPicture text={setup.totpURI} label="QR code for an authenticator app" />
          <Snippet text={setupKey} label="setup key" />
        </div>
        <div className="stack">
          <p>
            Save these backup codes. Each signs you in once without your phone. They will not be shown again.
          </p>
          <pre className="backup mono">{codes}</pre>
          <div className="row">
            <CopyButton text={codes} label="Copy backup codes" />
          </div>
          <Checkbox checked={isSaved} onChange={setIsSaved}>
            I have saved these codes
          </Checkbox>
          <TextInput
            label="Authentication code"
            name="code"
            autoComplete="one-time-code"
            value={code}
            onChange={setCode}
            problem={problem}
          />
          <FormError problem={problem} />
          <DialogActions>
            <Button disabled={isBusy} onClick={onClose}>
              Cancel
            </Button>
            <Button kind="primary" type="submit" busy={isBusy} disabled={!isSaved}>
              Enable
            </Button>
          </DialogActions>
        </div>
      </form>
    </Dialog>
  );
}

function DisableDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const toast = useToast();
  const [password, setPassword] = useState('');
  const { problem, isBusy, run } = useAttempt();

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    run(async () => {
      await disableTwoFactor(password);
      await client.invalidateQueries();
      toast('Two-factor authentication disabled.');
      onClose();
    });
  };
  return (
    <Dialog title="Disable two-factor authentication?" size="s" canClose={!isBusy} onClose={onClose}>
      <form onSubmit={submit} className="stack">
        <p>You will sign in with your password only.</p>
        <TextInput
          label="Current password"
          name="currentPassword"
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
          problem={problem}
        />
        <FormError problem={problem} />
        <DialogActions>
          <Button disabled={isBusy} onClick={onClose}>
            Cancel
          </Button>
          <Button kind="danger" type="submit" busy={isBusy}>
            Disable
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
