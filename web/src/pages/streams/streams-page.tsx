import { Page } from '../../shell/page.tsx';

export const StreamsPage = () => (
  <Page title="Streams" ranged>
    <p className="muted">Not built yet.</p>
  </Page>
);
