import { registerRootComponent } from 'expo';

registerRootComponent(() => null);
