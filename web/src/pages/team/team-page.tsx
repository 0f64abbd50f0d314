import { Page } from '../../shell/page.tsx';

export const TeamPage = () => (
  <Page title="Team" ranged>
    <p className="muted">Not built yet.</p>
  </Page>
);
