import { Page } from '../../shell/page.tsx';

export const UsagePage = () => (
  <Page title="Usage and quota" ranged>
    <p className="muted">Not built yet.</p>
  </Page>
);
