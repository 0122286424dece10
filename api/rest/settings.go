package rest

import (
	"context"

	"axflow/api/gen"
)

// ListSettings lists the kill switches.
func (h *Handlers) ListSettings(ctx context.Context, _ gen.ListSettingsRequestObject) (gen.ListSettingsResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.Settings(ctx)
	if err != nil {
		return nil, err
	}
	list := gen.ListSettings200JSONResponse{Items: make([]gen.Setting, len(all))}
	for i, s := range all {
		list.Items[i] = gen.Setting{Name: s.Name, On: s.On, Default: s.Default, Says: s.Says, UpdatedAt: s.UpdatedAt}
	}
	return list, nil
}

// SetSetting turns a kill switch.
func (h *Handlers) SetSetting(ctx context.Context, req gen.SetSettingRequestObject) (gen.SetSettingResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	w := who(ctx, req.Body.Reason, req.Body.DryRun)
	touched, err := c.SetSetting(ctx, req.Setting, req.Body.On, w)
	if err != nil {
		return nil, err
	}
	return gen.SetSetting200JSONResponse{ActedJSONResponse: acted(touched, w)}, nil
}
