-- Every filter of a site page but names and billing rules, behind the page's own order: what does not fit is passed
-- over within the index, and only the sites that fit are fetched. One index whose entries mostly come at the end of
-- their application's costs a create less than one for each filter.
create index site_by_filter on site
  (app_id, id, province_code, city_code, district_code, created_at, longitude, latitude);
