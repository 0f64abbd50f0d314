import { Link } from '@tanstack/react-router';
import { Button } from '../ui/button.tsx';
import { Mark } from '../ui/icon.tsx';

export const NoSuchPage = () => (
  <main className="alone">
    <div className="door">
      <Mark size={36} />
      <h1>There is no such page</h1>
      <p>
        <Link to="/">Go home</Link>, or check the address.
      </p>
    </div>
  </main>
);

/** A fault of ours. After an update of the service, the parts of a page that was open before are gone. */
export const PageFault = () => (
  <main className="alone">
    <div className="door" role="alert">
      <Mark size={36} />
      <h1>This page went wrong</h1>
      <p>The service may have been updated while it was open. Nothing that you changed is lost.</p>
      <Button kind="primary" onClick={() => window.location.reload()}>
        Load it again
      </Button>
    </div>
  </main>
);
