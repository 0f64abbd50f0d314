import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Snippet } from '../../ui/snippet.tsx';

export const SigningSecret = ({ secret, onClose }: { secret: string; onClose: () => void }) => (
  <Dialog title="Webhook signing secret" onClose={onClose}>
    <div className="stack">
      <p>Use this secret to verify webhook signatures. It will not be shown again.</p>
      <Snippet text={secret} label="signing secret" />
      <DialogActions>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </div>
  </Dialog>
);
