import { Page } from '../../shell/page.tsx';

export const ErrorsPage = () => (
  <Page title="Errors" ranged>
    <p className="muted">Not built yet.</p>
  </Page>
);
