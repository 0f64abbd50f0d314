import { ShownOnceDialog } from '../../ui/shown-once-dialog.tsx';

export const SigningSecret = ({ secret, onClose }: { secret: string; onClose: () => void }) => (
  <ShownOnceDialog title="Webhook signing secret" secret={secret} label="signing secret" onClose={onClose}>
    Use this secret to verify webhook signatures. It will not be shown again.
  </ShownOnceDialog>
);
