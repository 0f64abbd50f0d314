import { Page } from '../../shell/page.tsx';

export const SettingsPage = () => (
  <Page title="Settings" ranged>
    <p className="muted">Not built yet.</p>
  </Page>
);
