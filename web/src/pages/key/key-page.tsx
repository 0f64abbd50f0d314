import { Page } from '../../shell/page.tsx';

export const KeyPage = () => (
  <Page title="Key" ranged>
    <p className="muted">Not built yet.</p>
  </Page>
);
