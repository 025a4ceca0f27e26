// The build of the map library for a page whose policy lets no script be made of text; it comes without its types.
declare module 'maplibre-gl/dist/maplibre-gl-csp.js' {
  import * as maplibre from 'maplibre-gl'
  export default maplibre
}
