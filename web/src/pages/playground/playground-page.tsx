import { Page } from '../../shell/page.tsx';

export const PlaygroundPage = () => (
  <Page title="Playground" ranged>
    <p className="muted">Not built yet.</p>
  </Page>
);
