import { Page } from '../../shell/page.tsx';

export const KeysPage = () => (
  <Page title="Keys" ranged>
    <p className="muted">Not built yet.</p>
  </Page>
);
