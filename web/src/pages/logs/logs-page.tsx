import { Page } from '../../shell/page.tsx';

export const LogsPage = () => (
  <Page title="Logs" ranged>
    <p className="muted">Not built yet.</p>
  </Page>
);
