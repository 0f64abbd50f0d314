import { Page } from '../../shell/page.tsx';

export const PerformancePage = () => (
  <Page title="Performance" ranged>
    <p className="muted">Not built yet.</p>
  </Page>
);
