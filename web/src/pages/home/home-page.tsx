import { Page } from '../../shell/page.tsx';

export const HomePage = () => (
  <Page title="Home" ranged>
    <p className="muted">Not built yet.</p>
  </Page>
);
