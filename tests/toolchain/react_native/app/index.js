import { AppRegistry } from 'react-native';
import { ModelState } from './App';

AppRegistry.registerComponent('Fixture', () => ModelState);
